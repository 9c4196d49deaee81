// Stands for Calyx's wrapper around Berkeley HardFloat, which a checkout of Calyx has. petal's own simulator computes it without.
`include "HardFloat_consts.vi"
