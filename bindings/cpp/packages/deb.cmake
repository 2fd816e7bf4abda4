# Debian's packages, by CPack: libdataline2 (the shared library, named after its SONAME), libdataline-dev (headers, CMake package,
# dataline.pc, and the static library) and dataline (the shell). With -DDATALINE_DEB=ON, from the top-level CMakeLists.txt;
# packages/deb.sh builds them. The static library is no package of its own: Debian keeps it in -dev, and the CMake package names
# both libraries, so that it could not be found without it.
get_target_property(abi dataline_shared SOVERSION)
set(package_library libdataline${abi})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dataline)
set(CPACK_PACKAGE_VENDOR "The Dataline developers")
# Whoever gives packages to others names an address where reports arrive.
set(DATALINE_DEB_MAINTAINER "The Dataline developers <maintainers@dataline.invalid>" CACHE STRING "Of Debian's packages: name and address")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${DATALINE_DEB_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev static tools)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_RUNTIME_GROUP runtime)
set(CPACK_COMPONENT_DEV_GROUP dev)
set(CPACK_COMPONENT_STATIC_GROUP dev)
set(CPACK_COMPONENT_TOOLS_GROUP tools)

set(about "Dataline reads training data for machine-learning programs: images, arrays,
tokens and tables, shuffled, transformed and batched by threads, in an order
that can be repeated and resumed.")
function(describe group first rest)
  set(CPACK_DEBIAN_${group}_DESCRIPTION "${first}\n${about}\n\n${rest}" PARENT_SCOPE)
endfunction()

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${package_library})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_MULTIARCH same)  # of CMake 3.31 and later
describe(RUNTIME "data-loading runtime for machine-learning training" "This package holds the shared library.")

# The static library names what it links by plain names; who links it wants these too.
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libdataline-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${package_library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libdeflate-dev, libjpeg62-turbo-dev | libjpeg-dev, liblz4-dev, libspng-dev, libwebp-dev, libzstd-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "pkg-config, cmake")
set(CPACK_DEBIAN_DEV_PACKAGE_MULTIARCH same)
describe(DEV "data-loading runtime for machine-learning training (development)"
  "This package holds the headers for C and C++, the static library, a CMake\npackage and a file for pkg-config. Linking the static library takes the\nrecommended packages.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME dataline)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
# shlibdeps cannot know the library: it is in no installed package.
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${package_library} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
describe(TOOLS "data-loading runtime for machine-learning training (program)"
  "This package holds the program dataline, which shows, checks, converts and\nmeasures datasets.")

# ldconfig by Debian's trigger (CPack's own script calls it too), and what other packages' dpkg-shlibdeps reads.
set(made "${PROJECT_BINARY_DIR}/deb")
file(WRITE "${made}/triggers" "activate-noawait ldconfig\n")
file(WRITE "${made}/shlibs" "libdataline ${abi} ${package_library} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${made}/triggers;${made}/shlibs")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Each package's copyright and changelog. The date is that of the last commit, so that the same tree makes the same file.
find_program(DATALINE_GIT git)
set(date "Thu, 01 Jan 2026 00:00:00 +0000")
if(DATALINE_GIT)
  execute_process(COMMAND ${DATALINE_GIT} log -1 --format=%cD WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(committed)
    set(date "${committed}")
  endif()
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/deb/changelog.in" "${made}/changelog.Debian" @ONLY)
find_program(DATALINE_GZIP gzip REQUIRED)
execute_process(COMMAND ${DATALINE_GZIP} -9nf "${made}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
foreach(component runtime dev tools)
  string(TOUPPER ${component} group)
  install(FILES "${CMAKE_CURRENT_LIST_DIR}/deb/copyright" "${made}/changelog.Debian.gz"
    DESTINATION "share/doc/${CPACK_DEBIAN_${group}_PACKAGE_NAME}" COMPONENT ${component})
endforeach()
# Manual pages are compressed in Debian.
install(CODE "file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
execute_process(COMMAND \"${DATALINE_GZIP}\" -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT tools)
include(CPack)
