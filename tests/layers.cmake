# SPDX-License-Identifier: GPL-3.0-or-later
cmake_minimum_required(VERSION 3.25)
# Who may include whom. Arrows point one way, down this tower; a folder includes itself and what its row names.
# Public headers are included as <thermix/x.h>. The longest folder that has a row is the one a file belongs to. Tests and benches may include anything.
set(rows
  "include/thermix ->"
  "examples      -> include/thermix"
  "examples/extend -> include/thermix cli base core papers run sched study" # files that become part of the tree
  "base          -> include/thermix"
  "core/floorplan -> include/thermix base"
  "core/topology -> include/thermix base"
  "core/workload -> include/thermix base core/floorplan"
  "kernels       -> include/thermix base core/floorplan core/workload"
  "core/machine  -> include/thermix base core/floorplan core/workload"
  "core/contract -> include/thermix base core/floorplan core/topology core/workload core/machine"
  "core/serve    -> include/thermix base core/floorplan core/contract"
  "core/sim/sensor -> include/thermix base"
  "core/sim/stage -> include/thermix base kernels core/floorplan core/topology core/workload core/machine core/contract core/sim/sensor"
  "core/sim/source -> include/thermix base kernels core/floorplan core/workload core/machine core/contract core/serve core/sim/stage"
  "core/sim/record -> include/thermix base core/floorplan core/topology core/workload core/machine core/contract"
  "core/sim      -> include/thermix base core/machine core/contract core/serve core/sim/sensor core/sim/source core/sim/stage core/sim/record"
  "thermal/assembly -> include/thermix base core"
  "thermal/solver -> include/thermix base core thermal/assembly"
  "thermal/reduction -> include/thermix base core thermal/assembly thermal/solver"
  "thermal/backend -> include/thermix base core thermal/assembly thermal/solver thermal/reduction"
  "thermal/files -> include/thermix base core thermal/assembly"
  "thermal       -> include/thermix base core thermal/assembly thermal/solver thermal/reduction thermal/backend thermal/files"
  "hotspot       -> include/thermix base core thermal"
  "power         -> include/thermix base kernels core"
  "sched         -> include/thermix base kernels core"
  "run/load     -> include/thermix base kernels core thermal power sched"
  "run           -> include/thermix base kernels core thermal power sched run/load"
  "study         -> include/thermix base kernels core thermal power sched run"
  "study/microbench   -> include/thermix base kernels core thermal power sched run study"
  "limits          -> include/thermix base kernels core thermal power sched run study"
  "plots         -> include/thermix base kernels core thermal power sched run study"
  "measure/log   -> include/thermix base core"
  "measure       -> include/thermix base kernels core thermal power hotspot sched run study plots measure/log"
  "papers        -> include/thermix base kernels core thermal power sched run study plots"
  "cli           -> include/thermix base kernels core thermal power hotspot sched run limits study plots measure papers")
set(folders "")
foreach(row ${rows})
  string(REGEX MATCH "^([a-z/]+) *->(.*)$" _ "${row}")
  string(REPLACE " " ";" may "${CMAKE_MATCH_2}")
  set(folder ${CMAKE_MATCH_1})
  list(APPEND folders ${folder})
  set(may_${folder} ${folder} ${may})
endforeach()

# The row a file belongs to: the longest folder at the begin of its path.
function(folder_of path result)
  set(best "")
  foreach(folder ${folders})
    string(LENGTH "${folder}" n)
    string(LENGTH "${best}" m)
    string(FIND "${path}" "${folder}/" at)
    if(at EQUAL 0 AND n GREATER m)
      set(best ${folder})
    endif()
  endforeach()
  set(${result} "${best}" PARENT_SCOPE)
endfunction()

set(bad "")
set(tops ${folders})
list(TRANSFORM tops REPLACE "/.*" "")
list(REMOVE_DUPLICATES tops)
list(JOIN tops "|" heads) # <gsl/...> is not ours, <sched/...> is
string(APPEND heads "|thermix")
foreach(top ${tops})
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${top}/*.c ${ROOT}/${top}/*.h)
  foreach(f ${files})
    folder_of(${f} from)
    file(STRINGS ${ROOT}/${f} incs REGEX "^[ \t]*#[ \t]*include[ \t]*(\"|<(${heads})/)")
    foreach(i ${incs})
      string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*[\"<]([^\">]*)[\">].*" "\\1" path "${i}")
      string(REGEX REPLACE "^thermix/" "include/thermix/" path "${path}")
      folder_of(${path} to)
      if(f MATCHES "[.]h$")
        list(APPEND needs_${f} ${path})
      endif()
      set(ok FALSE)
      foreach(m ${may_${from}})
        if(to STREQUAL m OR (to AND NOT m STREQUAL from AND to MATCHES "^${m}/"))
          set(ok TRUE)
        endif()
      endforeach()
      if(NOT ok)
        list(JOIN may_${from} " " may)
        string(APPEND bad "\n  ${f}: ${i}  (${from} may include: ${may})")
      endif()
    endforeach()
  endforeach()
endforeach()

# No circle: headers that need none but those already taken are taken; what is left needs one another.
set(left "")
foreach(top ${tops})
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${top}/*.h)
  list(APPEND left ${files})
endforeach()
set(n_left -1)
list(LENGTH left n)
while(NOT n EQUAL n_left)
  set(n_left ${n})
  set(still "")
  foreach(f ${left})
    set(waits ${needs_${f}})
    list(FILTER waits INCLUDE REGEX "[.]h$")
    set(free TRUE)
    foreach(w ${waits})
      if(NOT taken_${w} AND EXISTS ${ROOT}/${w})
        set(free FALSE)
      endif()
    endforeach()
    if(free)
      set(taken_${f} TRUE)
    else()
      list(APPEND still ${f})
    endif()
  endforeach()
  set(left ${still})
  list(LENGTH left n)
endwhile()
if(left)
  string(APPEND bad "\n  headers that include one another: ${left}")
endif()

if(bad)
  message(FATAL_ERROR "layer rule broken:${bad}")
endif()
