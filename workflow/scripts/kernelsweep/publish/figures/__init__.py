"""One module a figure, each with a function draw."""

# Figures of a study by their modules' names. Correctness is drawn wherever points are checked; the others are the
# study's choice. Those of times are drawn only where a platform has a clock.
FIGURES_OF_TIMES = (
    "ladder",
    "bandwidth",
    "block_unroll",
    "block_grid",
    "operations",
    "roofline",
    "load_efficiency",
    "rivals",
)
OPTIONAL_FIGURES = (*FIGURES_OF_TIMES, "error", "lanes", "metrics")

# Figures of hardware counters.
FIGURES_OF_METRICS = ("metrics", "roofline", "load_efficiency")

# Beside a study's figures: their titles, messages and captions, by figure.
TEXTS_FILE = "texts.json"
