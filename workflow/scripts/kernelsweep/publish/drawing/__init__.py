"""Code that all figures share: their look and layout, heat maps, labelled points, and how a figure declares itself."""
