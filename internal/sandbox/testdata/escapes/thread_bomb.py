# what: starts threads without end
# stopped by: rlimits
# expect: =stopped memory user_error
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
import time
threading = sys.modules['__main__']._import('threading')
n = 0
try:
    while n < 100000:
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
        n += 1
    result_df = 'ESCAPED'
except RuntimeError:
    result_df = 'stopped' if n < 2000 else 'ESCAPED'
