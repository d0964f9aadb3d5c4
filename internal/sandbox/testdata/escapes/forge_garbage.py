# what: writes garbage as its result
# stopped by: frame limits
# expect: result_error died
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
os.write(4, b'\xff' * 100000)
