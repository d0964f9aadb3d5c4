# what: maps memory without using it
# stopped by: rlimits
# expect: =stopped memory
os = pd.io.common.os
sys = os.sys
sys.modules['__main__'].arm(False)
mmap = sys.modules['__main__']._import('mmap')
maps = []
try:
    while len(maps) < 10000:
        maps.append(mmap.mmap(-1, 64 << 20))
    result_df = 'ESCAPED'
except OSError:
    result_df = 'stopped'
