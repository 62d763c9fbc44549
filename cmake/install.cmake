# SPDX-License-Identifier: GPL-2.0-or-later
configure_file(cmake/vfctl.pc.in vfctl.pc @ONLY)
install(TARGETS vfctl_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS vfctl RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS vfctl-hook-qemu RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/vfctl)
install(PROGRAMS packaging/irqbalance/irqbalance-policy
  DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/vfctl)
install(DIRECTORY src/include/vfctl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/vfctl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY xml-templates DESTINATION ${CMAKE_INSTALL_DATADIR}/vfctl
  FILES_MATCHING PATTERN "*.xml")

# Completion, man page and the schemas of the files come from the program itself.
set(generated ${CMAKE_BINARY_DIR}/generated)
set(schemas ${generated}/guest.schema.json ${generated}/host.schema.json)
add_custom_command(OUTPUT ${generated}/vfctl.bash ${generated}/vfctl.1 ${schemas}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
  COMMAND $<TARGET_FILE:vfctl> completion bash > ${generated}/vfctl.bash
  COMMAND $<TARGET_FILE:vfctl> completion man > ${generated}/commands.man
  COMMAND $<TARGET_FILE:vfctl> schema guest > ${generated}/guest.schema.json
  COMMAND $<TARGET_FILE:vfctl> schema host > ${generated}/host.schema.json
  COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/docs/vfctl.1.head
    ${generated}/commands.man ${CMAKE_SOURCE_DIR}/docs/vfctl.1.tail > ${generated}/vfctl.1
  DEPENDS vfctl docs/vfctl.1.head docs/vfctl.1.tail VERBATIM)
add_custom_target(generated_docs ALL DEPENDS ${generated}/vfctl.bash ${generated}/vfctl.1 ${schemas})
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/vfctl/schema)
install(FILES ${generated}/vfctl.bash RENAME vfctl
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${generated}/vfctl.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
if(VFCTL_BENCH)
  set(bench ${generated}/vfctl-bench.bash ${generated}/vfctl-bench.1 ${generated}/bench.schema.json)
  add_custom_command(OUTPUT ${bench}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND $<TARGET_FILE:vfctl-bench> completion bash > ${generated}/vfctl-bench.bash
    COMMAND $<TARGET_FILE:vfctl-bench> completion man > ${generated}/bench-commands.man
    COMMAND $<TARGET_FILE:vfctl-bench> schema > ${generated}/bench.schema.json
    COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/docs/vfctl-bench.1.head
      ${generated}/bench-commands.man ${CMAKE_SOURCE_DIR}/docs/vfctl-bench.1.tail > ${generated}/vfctl-bench.1
    DEPENDS vfctl-bench docs/vfctl-bench.1.head docs/vfctl-bench.1.tail VERBATIM)
  add_custom_target(generated_bench_docs ALL DEPENDS ${bench})
  install(TARGETS vfctl-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${generated}/bench.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/vfctl/schema)
  install(FILES ${generated}/vfctl-bench.bash RENAME vfctl-bench
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${generated}/vfctl-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

file(GLOB api_headers CONFIGURE_DEPENDS src/include/vfctl/*.h)
# The Python module: sources, and the declarations made of the installed headers. It is loaded from
# libvfctl.so.0, so nothing is compiled.
if(VFCTL_PYTHON)
  set(cdef ${CMAKE_BINARY_DIR}/python/vfctl/_cdef.py)
  add_custom_command(OUTPUT ${cdef}
    COMMAND ${CMAKE_SOURCE_DIR}/python/make-cdef ${CMAKE_C_COMPILER} ${CMAKE_SOURCE_DIR}/src/include ${cdef}
    DEPENDS python/make-cdef ${api_headers} VERBATIM)
  add_custom_target(python_cdef ALL DEPENDS ${cdef})
  install(FILES python/vfctl/__init__.py python/vfctl/_lib.py python/vfctl/py.typed ${cdef}
    DESTINATION ${VFCTL_PYTHONDIR}/vfctl)
endif()
# libvfctl(3) is what the installed headers say.
add_custom_command(OUTPUT ${generated}/libvfctl.3
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
  COMMAND ${CMAKE_SOURCE_DIR}/docs/make-libvfctl-man ${CMAKE_SOURCE_DIR}/src/include > ${generated}/libvfctl.3
  DEPENDS docs/make-libvfctl-man docs/libvfctl.3.head docs/libvfctl.3.tail ${api_headers} VERBATIM)
add_custom_target(generated_libvfctl_man ALL DEPENDS ${generated}/libvfctl.3)
install(FILES ${generated}/libvfctl.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

configure_file(packaging/systemd/vfctl-guid-sync.service.in vfctl-guid-sync.service @ONLY)
configure_file(packaging/systemd/vfctl-metrics.service.in vfctl-metrics.service @ONLY)
configure_file(packaging/systemd/vfctl-recover.service.in vfctl-recover.service @ONLY)
configure_file(packaging/systemd/vfctl-apply.service.in vfctl-apply.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/vfctl-guid-sync.service
  ${CMAKE_BINARY_DIR}/vfctl-metrics.service packaging/systemd/vfctl-metrics.timer
  ${CMAKE_BINARY_DIR}/vfctl-recover.service ${CMAKE_BINARY_DIR}/vfctl-apply.service
  packaging/systemd/vfctl-guid-sync.timer DESTINATION lib/systemd/system)
