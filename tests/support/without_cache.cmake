# CTest reads this before it starts tests; they inherit its environment.
set(ENV{SMPLAN_NO_CACHE} 1)
