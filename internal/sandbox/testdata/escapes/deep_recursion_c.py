# what: overflows the C stack
# stopped by: interpreter
# expect: died user_error memory cpu_time wall_time
os = pd.io.common.os
sys = os.sys
sys.setrecursionlimit(10 ** 9)
def f(): return f()
f()
