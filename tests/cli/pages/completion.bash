# bash completion of smplan; written by `smplan completion bash`
_smplan() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' values='' flags='' word
  local -i at=-1
  # Bash cuts --flag=value at the equals sign.
  if [[ $cur == = ]]; then cur=''; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    if [[ -z $command ]]; then command=$word; else at+=1; fi
  done
  at+=1
  case $command in
    fly|land-on) ;;
    *)
      # No command yet; flags alone are a request to plan.
      [[ $COMP_CWORD == 1 && $cur != -* ]] && values='fly land-on'
      [[ $COMP_CWORD == 1 ]] && flags+='--help -h --version -V '
      command=plan ;;
  esac
  case $command:$prev in
    fly:--map) values='<file>' ;;
    fly:--deck) values='air sea' ;;
    fly:--format|land-on:--format) values='table json' ;;
  esac
  case $command in
    fly)
      flags+='--help -h --to -t --map --deck --slow --format'
      [[ -z $values && $prev != --* && $cur != -* ]] && case $at in
        0) values='<file>' ;;
        1) values='air sea' ;;
        *) values='<file>' ;;
      esac
      ;;
    land-on)
      flags+='--help -h --format'
      [[ -z $values && $prev != --* && $cur != -* ]] && case $at in
        0) values='' ;;
        *) values='up down' ;;
      esac
      ;;
  esac
  # The last word of a comma list is completed, what stands before it is kept.
  local before=''
  [[ $cur == *,* ]] && before=${cur%,*},
  local IFS=$'\n'
  if [[ $values == '<file>' ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  elif [[ -n $values ]]; then
    IFS=$' \t\n'
    COMPREPLY=($(compgen -P "$before" -W "$values" -- "${cur##*,}"))
  elif [[ $prev != --* || $cur == -* ]]; then
    IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  fi
}
complete -F _smplan smplan
