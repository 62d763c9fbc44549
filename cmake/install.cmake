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

# Completion, manual pages and the schemas of the files come from the program itself.
set(generated ${CMAKE_BINARY_DIR}/generated)
set(schemas ${generated}/guest.schema.json ${generated}/host.schema.json)
set(vfctl_docs ${generated}/man8/vfctl.8 ${generated}/completion/vfctl ${schemas})
set(make_page5 ${CMAKE_SOURCE_DIR}/docs/man/make-page5)
add_custom_command(OUTPUT ${vfctl_docs}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/completion
  COMMAND $<TARGET_FILE:vfctl> completion bash > ${generated}/completion/vfctl
  COMMAND $<TARGET_FILE:vfctl> completion zsh > ${generated}/completion/_vfctl
  COMMAND $<TARGET_FILE:vfctl> completion fish > ${generated}/completion/vfctl.fish
  COMMAND ${CMAKE_SOURCE_DIR}/docs/man/make-vfctl $<TARGET_FILE:vfctl> ${generated}/man8
  COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}/man5
  COMMAND ${make_page5} -v name=vfctl-host.yaml -v "about=what a host declares: PFs, VFs, pools and partitions"
    ${CMAKE_SOURCE_DIR}/docs/reference/host-yaml.md > ${generated}/man5/vfctl-host.yaml.5
  COMMAND ${make_page5} -v name=vfctl-guest.yaml -v "about=what a guest needs: CPUs, memory, disks and VFs"
    ${CMAKE_SOURCE_DIR}/docs/reference/guest-yaml.md > ${generated}/man5/vfctl-guest.yaml.5
  COMMAND $<TARGET_FILE:vfctl> schema guest > ${generated}/guest.schema.json
  COMMAND $<TARGET_FILE:vfctl> schema host > ${generated}/host.schema.json
  DEPENDS vfctl docs/man/make-vfctl docs/man/vfctl.8.head docs/man/vfctl.8.tail docs/man/make-page5
    docs/reference/host-yaml.md docs/reference/guest-yaml.md VERBATIM)
add_custom_target(generated_docs ALL DEPENDS ${vfctl_docs})
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/vfctl/schema)
install(FILES ${generated}/completion/vfctl DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${generated}/completion/_vfctl DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${generated}/completion/vfctl.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY ${generated}/man5 ${generated}/man8 DESTINATION ${CMAKE_INSTALL_MANDIR})
if(VFCTL_BENCH)
  set(bench ${generated}/vfctl-bench.bash ${generated}/vfctl-bench.1 ${generated}/bench.schema.json)
  add_custom_command(OUTPUT ${bench}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${generated}
    COMMAND $<TARGET_FILE:vfctl-bench> completion bash > ${generated}/vfctl-bench.bash
    COMMAND $<TARGET_FILE:vfctl-bench> __man > ${generated}/bench-commands.man
    COMMAND $<TARGET_FILE:vfctl-bench> schema > ${generated}/bench.schema.json
    COMMAND ${CMAKE_COMMAND} -E cat ${CMAKE_SOURCE_DIR}/docs/man/vfctl-bench.1.head
      ${generated}/bench-commands.man ${CMAKE_SOURCE_DIR}/docs/man/vfctl-bench.1.tail > ${generated}/vfctl-bench.1
    DEPENDS vfctl-bench docs/man/vfctl-bench.1.head docs/man/vfctl-bench.1.tail VERBATIM)
  add_custom_target(generated_bench_docs ALL DEPENDS ${bench})
  install(TARGETS vfctl-bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  file(GLOB bench_plans CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/bench/*.yaml)
  install(FILES ${bench_plans} DESTINATION ${CMAKE_INSTALL_DATADIR}/vfctl/bench)
  install(FILES ${generated}/bench.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/vfctl/schema)
  install(FILES ${generated}/vfctl-bench.bash RENAME vfctl-bench
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${generated}/vfctl-bench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

# Ansible of Debian looks for collections below /usr/share/ansible.
if(VFCTL_ANSIBLE)
  install(DIRECTORY provisioning/ansible/
    DESTINATION ${CMAKE_INSTALL_DATADIR}/ansible/collections/ansible_collections/vfctl/sriov
    PATTERN tests EXCLUDE PATTERN __pycache__ EXCLUDE)
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
  COMMAND ${CMAKE_SOURCE_DIR}/docs/man/make-libvfctl ${CMAKE_SOURCE_DIR}/src/include > ${generated}/libvfctl.3
  DEPENDS docs/man/make-libvfctl docs/man/libvfctl.3.head docs/man/libvfctl.3.tail ${api_headers} VERBATIM)
add_custom_target(generated_libvfctl_man ALL DEPENDS ${generated}/libvfctl.3)
install(FILES ${generated}/libvfctl.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)

configure_file(packaging/systemd/vfctl-guid-sync.service.in vfctl-guid-sync.service @ONLY)
configure_file(packaging/systemd/vfctl-metrics.service.in vfctl-metrics.service @ONLY)
configure_file(packaging/systemd/vfctl-recover.service.in vfctl-recover.service @ONLY)
configure_file(packaging/systemd/vfctl-apply.service.in vfctl-apply.service @ONLY)
configure_file(packaging/systemd/vfctl-bridge.service.in vfctl-bridge.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/vfctl-guid-sync.service
  ${CMAKE_BINARY_DIR}/vfctl-metrics.service packaging/systemd/vfctl-metrics.timer
  ${CMAKE_BINARY_DIR}/vfctl-recover.service ${CMAKE_BINARY_DIR}/vfctl-apply.service
  ${CMAKE_BINARY_DIR}/vfctl-bridge.service
  packaging/systemd/vfctl-guid-sync.timer DESTINATION lib/systemd/system)
