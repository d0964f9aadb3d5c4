# what: closes its way to hand back
# stopped by: runner
# expect: died
os = pd.io.common.os
sys = os.sys
os.closerange(0, 64)
os._exit(0)
