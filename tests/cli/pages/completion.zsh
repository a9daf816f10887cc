#compdef smplan
# zsh completion of smplan; written by `smplan completion zsh`
_smplan() {
  local command=$words[2]
  local -a commands=(
    'fly:Fly\: it'\''s \[fast\] \\o/'
    'land-on:Land'
  )
  if (( CURRENT == 2 )) && [[ $command != -* ]]; then
    _describe -t commands command commands
    return
  fi
  # Flags alone are a request to plan.
  if [[ $command == -* ]]; then command=plan; else shift words; (( CURRENT-- )); fi
  case $command in
    fly) _arguments \
      '--help[Print this help]' \
      '-h[Print this help]' \
      ':FROM:_files' \
      ':way:(air sea)' \
      '*:stops:_files' \
      '--to=[Where it'\''s bound]:PLACE: ' \
      '-t=[Where it'\''s bound]:PLACE: ' \
      '*--map=[Map of the | way]:FILE:_files' \
      '--deck=[Where to sit]:value:(air sea)' \
      '--slow[Take the time]' \
      '--format=[How to print \[table\]]:value:(table json)' ;;
    land-on) _arguments \
      '--help[Print this help]' \
      '-h[Print this help]' \
      ':name: ' \
      '*:where:(up down)' \
      '--format=[How to print \[table\]]:value:(table json)' ;;
  esac
}
_smplan "$@"
