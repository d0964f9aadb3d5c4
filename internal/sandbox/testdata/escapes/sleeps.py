# what: waits for ever
# stopped by: wall clock
# expect: wall_time
import time
time.sleep(10 ** 6)
