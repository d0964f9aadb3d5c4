# what: raises its own memory limit
# stopped by: rlimits
# expect: =refused
os = pd.io.common.os
sys = os.sys
resource = sys.modules['resource']
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
try:
    resource.setrlimit(resource.RLIMIT_AS, (hard * 4, hard * 4))
    result_df = 'ESCAPED'
except (ValueError, OSError):
    result_df = 'refused'
