# what: replaces the runner's own functions
# stopped by: runner
# expect: died
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
m.send = lambda *a, **k: None
result_df = 1
