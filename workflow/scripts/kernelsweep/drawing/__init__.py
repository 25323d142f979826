"""What all figures share: style, heat maps, labelled points."""
