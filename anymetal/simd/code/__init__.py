"""What all generated code is written with: text, values in their forms, masks, single accesses."""
