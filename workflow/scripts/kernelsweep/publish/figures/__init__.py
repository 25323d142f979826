"""The figures of a study, one module each: a declaration FIGURE, and a function draw of a study's data and a width."""
