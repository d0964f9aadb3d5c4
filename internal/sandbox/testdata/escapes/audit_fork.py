# what: forks by a found os
# stopped by: audit hook
# expect: policy
os = pd.io.common.os
sys = os.sys
os.fork()
