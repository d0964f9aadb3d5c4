# what: announces a header of 4 GB
# stopped by: frame limits
# expect: result_error died
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
os.write(4, b'\xff\xff\xff\xff')
