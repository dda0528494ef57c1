"""Private foundations: arrays, compiled functions, files, signals and terminals."""
