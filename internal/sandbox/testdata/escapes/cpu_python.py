# what: never ends
# stopped by: rlimits
# expect: cpu_time wall_time
while True: pass
