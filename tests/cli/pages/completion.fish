# fish completion of smplan; written by `smplan completion fish`
# The command that the line names; flags alone are a request to plan.
function __smplan_command
    set -l words (commandline -opc)
    if not set -q words[2]
        string match -q -- '-*' (commandline -ct); and echo plan
    else if string match -q -- '-*' $words[2]
        echo plan
    else
        echo $words[2]
    end
end
function __smplan_in
    string match -q -- $argv[1] (__smplan_command)
end
function __smplan_word
    __smplan_in $argv[1]; and test (count (commandline -opc)) -eq $argv[2]
end
complete -c smplan -f
complete -c smplan -n 'test (count (commandline -opc)) -eq 1' -l help -d 'Print this help'
complete -c smplan -n 'test (count (commandline -opc)) -eq 1' -l version -d 'It\'s the version'
complete -c smplan -n 'test (count (commandline -opc)) -eq 1' -a fly -d 'Fly: it\'s [fast] \\o/'
complete -c smplan -n '__smplan_in fly' -l help -d 'Print this help'
complete -c smplan -n '__smplan_word fly 2' -F -d 'File to leave from'
complete -c smplan -n '__smplan_word fly 3' -a 'air sea' -d 'Which way'
complete -c smplan -n '__smplan_in fly' -F -d 'Folders on the way'
complete -c smplan -n '__smplan_in fly' -l to -x -d 'Where it\'s bound'
complete -c smplan -n '__smplan_in fly' -l map -r -F -d 'Map of the | way'
complete -c smplan -n '__smplan_in fly' -l deck -x -a 'air sea' -d 'Where to sit'
complete -c smplan -n '__smplan_in fly' -l slow -d 'Take the time'
complete -c smplan -n '__smplan_in fly' -l format -x -a 'table json' -d 'How to print [table]'
complete -c smplan -n 'test (count (commandline -opc)) -eq 1' -a land-on -d 'Land'
complete -c smplan -n '__smplan_in land-on' -l help -d 'Print this help'
complete -c smplan -n '__smplan_word land-on 2' -d 'Of the place'
complete -c smplan -n '__smplan_in land-on' -a 'up down' -d 'On what'
complete -c smplan -n '__smplan_in land-on' -l format -x -a 'table json' -d 'How to print [table]'
