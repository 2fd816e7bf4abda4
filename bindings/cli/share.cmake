# Has the program print its manual pages and completion scripts: SHARE/man as `man` wants them, SHARE/completions as the shells do.
#   cmake -DSHARE=DIR -DPROGRAM=dataline [-DEMULATOR=qemu] -P share.cmake
# SPDX-License-Identifier: Apache-2.0
function(print_to file)
  execute_process(COMMAND ${EMULATOR} "${PROGRAM}" ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: ${status}")
  endif()
  file(WRITE "${SHARE}/${file}" "${text}")
  set(text "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${SHARE}")
print_to(man/man1/dataline.1 help --man)
string(REGEX MATCHALL "dataline\\\\-[a-z]+" pages "${text}")  # under SEE ALSO, one of each command
foreach(page IN LISTS pages)
  string(REGEX REPLACE ".*-" "" command "${page}")
  print_to(man/man1/dataline-${command}.1 help --man ${command})
endforeach()
print_to(completions/bash-completion/completions/dataline completion bash)
print_to(completions/zsh/site-functions/_dataline completion zsh)
print_to(completions/fish/vendor_completions.d/dataline.fish completion fish)
file(TOUCH "${SHARE}/made")
