"""What compiling and launching have to agree on."""

#: The function's name in the PTX text.
ENTRY = "am_kernel"
#: Architectures, old ones first, and the oldest version of PTX that knows each. Drivers of CUDA 12
#: read all of them but the last, which takes 12.7.
PTX_OF = {
    "sm_70": 70, "sm_75": 70, "sm_80": 70, "sm_86": 71, "sm_89": 78, "sm_90": 78, "sm_100": 86,
}  # fmt: skip
