# what: asks a name server
# stopped by: seccomp
# expect: =refused
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
s = sys.modules['__main__']._import('socket')
try:
    s.getaddrinfo('example.com', 80)
    result_df = 'ESCAPED'
except OSError:
    result_df = 'refused'
