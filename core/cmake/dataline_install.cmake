# Install rules: the header, both libraries, dataline.pc and a CMake package. Components: runtime, development,
# static.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/dataline")

install(TARGETS dataline_shared EXPORT datalineTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT dev
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT dev)
if(DATALINE_INSTALL_STATIC)
  install(TARGETS dataline_static EXPORT datalineTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT static)
else()
  set_target_properties(dataline_static PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
install(FILES dataline.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)

# The prefix is found from the file's own place, so an installed tree can be moved.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
set(pc_private "")
foreach(name IN LISTS static_names CMAKE_DL_LIBS)
  string(APPEND pc_private " -l${name}")
endforeach()
foreach(name dataline dataline-link)
  configure_file(${name}.pc.in ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
endforeach()
# Where `pkg-config --static` looks first: a folder in which no shared library lies that the linker would prefer.
if(DATALINE_INSTALL_STATIC)
  set(archive_folder "${CMAKE_CURRENT_BINARY_DIR}/dataline-static")
  file(MAKE_DIRECTORY "${archive_folder}")
  file(CREATE_LINK ../libdataline.a "${archive_folder}/libdataline.a" SYMBOLIC)
  install(FILES "${archive_folder}/libdataline.a"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/dataline-static" COMPONENT static)
endif()

configure_package_config_file(datalineConfig.cmake.in datalineConfig.cmake INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(datalineConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT datalineTargets NAMESPACE dataline:: DESTINATION "${package_dir}" COMPONENT dev)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/datalineConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/datalineConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT dev)
