"""What jobs share: processes, sandboxes, locks, logs, and the hashes of code and of what a job was made from."""
