# what: announces a payload of 1 TB
# stopped by: frame limits
# expect: result_error died
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
h = b'{"kind":"table","len":1099511627776}'
os.write(4, len(h).to_bytes(4, 'big') + h)
