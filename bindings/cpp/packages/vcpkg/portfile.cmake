# vcpkg's port. In a checkout it builds the checkout; packages/vcpkg.sh puts the sources beside it for those who have none.
#   vcpkg install dataline --overlay-ports=bindings/cpp/packages/vcpkg
# SPDX-License-Identifier: Apache-2.0

# Always the shared library: its interface is C, and static libraries that it is linked with stay hidden inside.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)

if(EXISTS "${CURRENT_PORT_DIR}/dataline-${VERSION}.tar.gz")
  vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${CURRENT_PORT_DIR}/dataline-${VERSION}.tar.gz")
else()
  get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)
endif()

vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  deflate DATALINE_WITH_LIBDEFLATE
  jpeg DATALINE_WITH_LIBJPEG
  lz4 DATALINE_WITH_LIBLZ4
  mimalloc DATALINE_WITH_MIMALLOC
  png DATALINE_WITH_LIBSPNG
  tools DATALINE_CLI
  webp DATALINE_WITH_LIBWEBP
  zstd DATALINE_WITH_LIBZSTD)

# In static triplets libspng has another name and leaves zlib to whoever links it.
foreach(config IN ITEMS release debug)
  set(folder "${CURRENT_INSTALLED_DIR}/lib")
  if(config STREQUAL "debug")
    set(folder "${CURRENT_INSTALLED_DIR}/debug/lib")
  endif()
  set(${config} "")
  if("png" IN_LIST FEATURES AND EXISTS "${folder}/libspng_static.a")
    set(${config} "-DDATALINE_LIBSPNG_LIBRARY=${folder}/libspng_static.a" "-DCMAKE_CXX_STANDARD_LIBRARIES=${folder}/libz.a")
  endif()
endforeach()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} -DDATALINE_TESTS=OFF -DDATALINE_EXAMPLES=OFF -DDATALINE_BENCH=OFF -DDATALINE_INSTALL=ON -DDATALINE_INSTALL_STATIC=OFF
  OPTIONS_RELEASE ${release}
  OPTIONS_DEBUG ${debug} -DDATALINE_CLI=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME dataline CONFIG_PATH lib/cmake/dataline)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES dataline AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
