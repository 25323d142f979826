"""Each kernel's best time over its versions, from the journal."""
