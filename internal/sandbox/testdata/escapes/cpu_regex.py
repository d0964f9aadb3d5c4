# what: never ends in a regular expression
# stopped by: rlimits
# expect: cpu_time wall_time
import re
re.match('(a+)+$', 'a' * 60 + 'b')
