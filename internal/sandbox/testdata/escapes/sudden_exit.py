# what: leaves without a word
# stopped by: runner
# expect: died
os = pd.io.common.os
sys = os.sys
os._exit(0)
