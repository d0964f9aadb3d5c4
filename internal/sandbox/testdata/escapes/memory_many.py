# what: fills a list
# stopped by: rlimits
# expect: memory
x = []
while True:
    x.append(np.ones(1 << 20, dtype='u1'))
