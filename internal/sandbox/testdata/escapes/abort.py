# what: aborts
# stopped by: kernel
# expect: died
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
os.abort()
