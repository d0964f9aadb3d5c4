# what: never ends inside C
# stopped by: rlimits
# expect: cpu_time wall_time
x = 7 ** (10 ** 9)
