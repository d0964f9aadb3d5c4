# what: runs a shell by an os that was found in pandas
# stopped by: audit hook
# expect: policy
os = pd.io.common.os
sys = os.sys
os.system('id')
