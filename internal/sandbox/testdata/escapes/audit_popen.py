# what: starts a process by a found subprocess
# stopped by: audit hook
# expect: policy
os = pd.io.common.os
sys = os.sys
sp = sys.modules.get('subprocess') or sys.modules['__main__']._import('subprocess')
sp.Popen(['id'])
