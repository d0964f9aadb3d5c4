# what: announces a payload below zero
# stopped by: frame limits
# expect: result_error died
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
h = b'{"kind":"table","len":-5}'
os.write(4, len(h).to_bytes(4, 'big') + h)
