# what: asks for 100 GB at once
# stopped by: rlimits
# expect: memory
x = np.ones(100 << 30, dtype='u1')
