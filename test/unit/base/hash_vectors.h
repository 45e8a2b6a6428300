// Made by make_hash_vectors.py; do not edit.
#pragma once

#include <cstddef>
#include <cstdint>

struct HashVector {
  size_t length;
  uint64_t seed;
  const char* hex;
};

constexpr HashVector kHashVectors[] = {
    {0, 0x0u, "99aa06d3014798d86001c324468d497f"},
    {0, 0x1u, "d9265cc53bb2b9ae6131b78f753823cd"},
    {0, 0x9e3779b185ebca87u, "45ef6ddc7afb225af9ece1036ecbb2ed"},
    {1, 0x0u, "495b62073ef70ca44c5cca45d0f4811f"},
    {1, 0x1u, "5ccf3ae472ecd5ef0a187bf012eca100"},
    {1, 0x9e3779b185ebca87u, "0a5cf80e139619eb69f37fe502a5ce84"},
    {3, 0x0u, "de0de73b78221781d079cb72d5dc8fe3"},
    {3, 0x1u, "171e23e55e39c3f5bb42ce38a85ef0b6"},
    {3, 0x9e3779b185ebca87u, "2555db1cc9e390d1d86c4e975cfa316e"},
    {4, 0x0u, "2ec1f0e0927bbd72a7f588a0488a2ce1"},
    {4, 0x1u, "c98d2fb890caf501e0f316df473e433b"},
    {4, 0x9e3779b185ebca87u, "dbfa0c00f48f747935428e4a40b374fe"},
    {8, 0x0u, "86352c64c51053a4f169e0e241e43d88"},
    {8, 0x1u, "c5cb3501581b6b4f8ecdf3744da793eb"},
    {8, 0x9e3779b185ebca87u, "f0dbbd1bb95c068d63a22441df922dbd"},
    {9, 0x0u, "2da82c32992eb47cecaf34715ab252db"},
    {9, 0x1u, "90e5b070066908f342f11afe3f9497ac"},
    {9, 0x9e3779b185ebca87u, "d1c90e374570529f0fd67382e462ab92"},
    {16, 0x0u, "2ea9b26e0de3c1293ad9b09b55ff159d"},
    {16, 0x1u, "0f9f030181f264a691458eee925ec8fb"},
    {16, 0x9e3779b185ebca87u, "1970b0d35a0a7678c3a86538c0ba71db"},
    {17, 0x0u, "e98962a9feec88ce2aded60943cd42fc"},
    {17, 0x1u, "d5e9b72ffad64a619abc8034deca818c"},
    {17, 0x9e3779b185ebca87u, "d29b4b652b72eb89a35bc270a79c9b36"},
    {64, 0x0u, "fa68cbcaebaaaf6be208ac1527843170"},
    {64, 0x1u, "8f5aff39c4ed2ae5ec949ce69813839a"},
    {64, 0x9e3779b185ebca87u, "f4468d25418c11c1ee8b0afc5c92ee74"},
    {128, 0x0u, "c2dbaea325ed4288a4623912aab4c938"},
    {128, 0x1u, "2414ba6ad9d34ca4e6fc316f02e2ccb6"},
    {128, 0x9e3779b185ebca87u, "b7fd463904103423a572ae9f4cbcf699"},
    {129, 0x0u, "eac1039c6fbf7b8cf316461ff6b978d7"},
    {129, 0x1u, "a44e1850339de25723355c1d8426ca6a"},
    {129, 0x9e3779b185ebca87u, "40e3578ba0b3f01834ebd8aba9bba1c8"},
    {240, 0x0u, "4536dcb050ba614460a06c4f31468cc3"},
    {240, 0x1u, "ab2b3d5a7a6f072bd6590b727847dd01"},
    {240, 0x9e3779b185ebca87u, "234142ca772ca321b854b6dedd70cc1a"},
    {241, 0x0u, "b4125661642a66f9246c5fe4ed1436a3"},
    {241, 0x1u, "e6176b5b86945a60e733411dec6ce2b6"},
    {241, 0x9e3779b185ebca87u, "3e16a333bb33b05bd1783eceb2d926ce"},
    {256, 0x0u, "b513c6fb2f402bdc94408c78397f3c77"},
    {256, 0x1u, "e6e8f7cf1229e520e7e7b92805bf3b71"},
    {256, 0x9e3779b185ebca87u, "fcca136a4611dac4d21fc9c5edab4cca"},
    {1024, 0x0u, "4b8b4d51d1b23ed30b662daec235d4ca"},
    {1024, 0x1u, "c46b4865370b35187fe3517ffb6fd6b4"},
    {1024, 0x9e3779b185ebca87u, "91bfa07329d6c04a46ba104d3a450ebe"},
    {1025, 0x0u, "1c489c9ad8646bff13d178f3e2b48e9e"},
    {1025, 0x1u, "6ee399406788d53311d4c1755b4cdc23"},
    {1025, 0x9e3779b185ebca87u, "2c3ae7a1649b2eb7f88860780cf3fb0c"},
    {5000, 0x0u, "0ccbfaee12026d3107a2c28e3218c663"},
    {5000, 0x1u, "4d825025d872b7927c667fd28874d13f"},
    {5000, 0x9e3779b185ebca87u, "9cd75ac5d8df3d040b2660732c593021"},
};
