# what: uses a descriptor of the server
# stopped by: close_range
# expect: =none
os = pd.io.common.os
sys = os.sys
found = []
for fd in range(5, 128):
    try:
        os.fstat(fd)
        found.append(fd)
    except OSError:
        pass
result_df = 'ESCAPED ' + str(found) if found else 'none'
