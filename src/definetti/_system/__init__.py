"""What everything stands on: arrays, compiled functions, files, signals, terminals. All private."""
