# what: opens a socket by a found module
# stopped by: audit hook
# expect: policy
os = pd.io.common.os
sys = os.sys
s = sys.modules['__main__']._import('socket')
s.socket()
