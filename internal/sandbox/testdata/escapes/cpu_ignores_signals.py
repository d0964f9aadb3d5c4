# what: ignores the signal that ends its time
# stopped by: rlimits
# expect: cpu_time wall_time
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
signal = sys.modules['signal']
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
