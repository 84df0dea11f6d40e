"""What a static model of Arm's cores says of the benchmark's inner loops: ours and the C++'s."""
