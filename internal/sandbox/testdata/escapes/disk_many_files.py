# what: makes files without end
# stopped by: tmpfs inodes
# expect: =ENOSPC =stopped cpu_time wall_time
os = pd.io.common.os
sys = os.sys
try:
    for i in range(300000):
        os.close(os.open(f'f{i}', os.O_CREAT | os.O_WRONLY))
    result_df = 'ESCAPED'
except OSError:
    result_df = 'ENOSPC'
