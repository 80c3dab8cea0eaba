"""The explorer: a small web app that shows near-duplicates in a table with fingerprints, and changes nothing."""
