"""A study's figures. Each module has draw(study, measurements, device, published) -> Figure; style.save writes one."""
