// @block 1@
