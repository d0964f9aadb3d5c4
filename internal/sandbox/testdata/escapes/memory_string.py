# what: builds a huge text
# stopped by: rlimits
# expect: memory
x = 'x' * (1 << 40)
