# what: names a file to write over /etc/passwd
# stopped by: frame limits
# expect: file:passwd
os = pd.io.common.os
sys = os.sys
m = sys.modules['__main__']
m.send(4, 'file', b'a,b', name='../../../../etc/passwd')
