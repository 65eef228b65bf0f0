"""Runs compiled kernels on devices. The only package that imports wgpu, and that only when a device is asked for."""
