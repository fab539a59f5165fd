// RecordFunction: what a callback can learn about a range.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "xsigma/profiler/profiler.h"

namespace xsigma::profiler {
namespace {

std::function<void(const RecordFunction&)> at_start;
std::function<void(const RecordFunction&)> at_end;

RecordFunctionCallback asking() {
  return RecordFunctionCallback(
      [](const RecordFunction& function) -> std::unique_ptr<ObserverContext> {
        if (at_start) at_start(function);
        return nullptr;
      },
      [](const RecordFunction& function, ObserverContext*) {
        if (at_end) at_end(function);
      });
}

class RecordFunctionTest : public testing::Test {
 protected:
  void TearDown() override {
    clearCallbacks();
    at_start = at_end = nullptr;
  }
};

TEST_F(RecordFunctionTest, DoesNothingWhileNobodyListens) {
  RecordFunction function(RecordScope::CUSTOM_CLASS);
  function.before("f", {1, 2}, 3);
  EXPECT_FALSE(function.isActive());
  EXPECT_FALSE(function.needsInputs());
  EXPECT_FALSE(function.needsOutputs());
  EXPECT_STREQ(function.name(), "");
  EXPECT_EQ(function.seqNr(), -1);
  EXPECT_EQ(function.handle(), 0u);
  EXPECT_EQ(function.scope(), RecordScope::CUSTOM_CLASS);
}

TEST_F(RecordFunctionTest, ScopeValuesAreThoseOfTheSeeds) {
  EXPECT_EQ(static_cast<int>(RecordScope::FUNCTION), 0);
  EXPECT_EQ(static_cast<int>(RecordScope::BACKWARD_FUNCTION), 1);
  EXPECT_EQ(static_cast<int>(RecordScope::TORCHSCRIPT_FUNCTION), 2);
  EXPECT_EQ(static_cast<int>(RecordScope::KERNEL_FUNCTION_DTYPE), 3);
  EXPECT_EQ(static_cast<int>(RecordScope::CUSTOM_CLASS), 4);
  EXPECT_EQ(static_cast<int>(RecordScope::BUILD_FEATURE), 5);
  EXPECT_EQ(static_cast<int>(RecordScope::LITE_INTERPRETER), 6);
  EXPECT_EQ(static_cast<int>(RecordScope::USER_SCOPE), 7);
  EXPECT_EQ(static_cast<int>(RecordScope::STATIC_RUNTIME_OP), 8);
  EXPECT_EQ(static_cast<int>(RecordScope::STATIC_RUNTIME_MODEL), 9);
  EXPECT_EQ(static_cast<int>(RecordScope::NUM_SCOPES), 10);
}

TEST_F(RecordFunctionTest, TellsItsNameScopeAndSequenceNumber) {
  addGlobalCallback(asking());
  int asked = 0;
  at_start = at_end = [&](const RecordFunction& function) {
    ++asked;
    EXPECT_STREQ(function.name(), "aten::mul");
    EXPECT_STREQ(function.overload_name(), "");
    EXPECT_EQ(function.scope(), RecordScope::BACKWARD_FUNCTION);
    EXPECT_EQ(function.seqNr(), 99);
    EXPECT_EQ(function.forwardThreadId(), 5u);
    EXPECT_EQ(function.debugHandle(), 17);
    EXPECT_EQ(function.threadId(), RecordFunction::currentThreadId());
    EXPECT_TRUE(function.isStaticRuntimeOutVariant());
    EXPECT_FALSE(function.isAsync());
    EXPECT_FALSE(function.isNcclMeta());
  };
  {
    RecordFunction function(RecordScope::BACKWARD_FUNCTION);
    function.setForwardThreadId(5);
    function.setDebugHandle(17);
    function._setStaticRuntimeOutVariant();
    function.before("aten::mul", 99);
  }
  EXPECT_EQ(asked, 2);
}

TEST_F(RecordFunctionTest, WithoutThemSaysSo) {
  addGlobalCallback(asking());
  RecordFunction function;
  function.before("plain");
  EXPECT_EQ(function.seqNr(), -1);
  EXPECT_EQ(function.forwardThreadId(), 0u);
  EXPECT_EQ(function.debugHandle(), -1);
  EXPECT_FALSE(function.isStaticRuntimeOutVariant());
}

TEST_F(RecordFunctionTest, InputsAreForThoseWhoAskAndOnlyAtTheStart) {
  addGlobalCallback(asking().needsInputs(true));
  int64_t seen = 0;
  size_t keywords = 0;
  at_start = [&](const RecordFunction& function) {
    EXPECT_TRUE(function.needsInputs());
    ASSERT_EQ(function.num_inputs(), 2u);
    seen = function.inputs()[1].integer();
    keywords = function.kwinputs().size();
    EXPECT_EQ(function.inputs()[0].string(), "text");
    EXPECT_EQ(function.kwinputs().at(0).key, "alpha");
  };
  at_end = [&](const RecordFunction& function) {
    EXPECT_EQ(function.num_inputs(), 0u);
    EXPECT_TRUE(function.kwinputs().empty());
    seen += 1000;
  };
  {
    RecordFunction function;
    function.before("f", {"text", 41}, KeywordList{{"alpha", 0.5}});
    EXPECT_EQ(function.num_inputs(), 0u);
  }
  EXPECT_EQ(seen, 1041);
  EXPECT_EQ(keywords, 1u);
}

TEST_F(RecordFunctionTest, NeedsAreThoseOfAllItsCallbacks) {
  addGlobalCallback(asking());
  {
    RecordFunction function;
    EXPECT_TRUE(function.isActive());
    EXPECT_FALSE(function.needsInputs());
    EXPECT_FALSE(function.needsOutputs());
  }
  addThreadLocalCallback(asking().needsOutputs(true));
  {
    RecordFunction function;
    EXPECT_FALSE(function.needsInputs());
    EXPECT_TRUE(function.needsOutputs());
  }
  addThreadLocalCallback(asking().needsInputs(true).scopes({RecordScope::USER_SCOPE}));
  EXPECT_FALSE(RecordFunction().needsInputs());
  EXPECT_TRUE(RecordFunction(RecordScope::USER_SCOPE).needsInputs());
}

TEST_F(RecordFunctionTest, OutputsReachTheEndCallbackAsACopy) {
  addGlobalCallback(asking().needsOutputs(true));
  std::string text;
  std::vector<int64_t> sizes;
  at_end = [&](const RecordFunction& function) {
    ASSERT_EQ(function.num_outputs(), 3u);
    text = function.outputs()[0].string();
    const TensorInfo& tensor = function.outputs()[1].tensor();
    sizes.assign(tensor.sizes, tensor.sizes + tensor.dim);
    EXPECT_STREQ(tensor.dtype, "float");
    EXPECT_EQ(tensor.strides, nullptr);
    EXPECT_EQ(function.outputs()[2].list()[1].integer(), 8);
  };
  {
    RecordFunction function;
    function.before("f");
    std::string buffer = "the result, too long to be kept in the string itself";
    int64_t shape[] = {2, 3};
    char dtype[] = "float";
    const std::vector<InputValue> items = {7, 8};
    function.setOutputs({buffer, TensorInfo{.sizes = shape, .dim = 2, .dtype = dtype}, InputList(items)});
    buffer.assign(buffer.size(), '?');
    shape[0] = shape[1] = dtype[0] = 0;
  }
  EXPECT_EQ(text, "the result, too long to be kept in the string itself");
  EXPECT_EQ(sizes, (std::vector<int64_t>{2, 3}));
}

TEST_F(RecordFunctionTest, HandlesAreDrawnOnlyForThoseWhoNeedIds) {
  addGlobalCallback(asking());
  std::set<uint64_t> handles;
  at_start = [&](const RecordFunction& function) { handles.insert(function.handle()); };
  for (int i = 0; i < 10; ++i) {
    XSIGMA_RECORD_FUNCTION("f", {});
  }
  EXPECT_EQ(handles, std::set<uint64_t>{0});
  handles.clear();
  addGlobalCallback(asking().needsIds(true).scopes({RecordScope::FUNCTION}));
  clearThreadLocalCallbacks();
  for (int i = 0; i < 600; ++i) {
    XSIGMA_RECORD_FUNCTION("f", {});
  }
  std::thread([&] {
    for (int i = 0; i < 600; ++i) {
      XSIGMA_RECORD_FUNCTION("f", {});
    }
  }).join();
  EXPECT_EQ(handles.size(), 1200u);
  EXPECT_EQ(handles.count(0), 0u);
}

TEST_F(RecordFunctionTest, AnAsyncRangeEndsOnTheThreadThatEndsIt) {
  addGlobalCallback(asking());
  std::thread::id end_thread;
  uint64_t thread_id = 0;
  at_end = [&](const RecordFunction& function) {
    end_thread = std::this_thread::get_id();
    thread_id = function.threadId();
    EXPECT_TRUE(function.isAsync());
    EXPECT_STREQ(function.name(), "rpc");
  };
  auto function = std::make_unique<RecordFunction>();
  function->_setAsync();
  function->before("rpc");
  std::thread other([&] { function->end(); });
  const std::thread::id other_id = other.get_id();
  other.join();
  function.reset();
  EXPECT_EQ(end_thread, other_id);
  EXPECT_EQ(thread_id, RecordFunction::currentThreadId());
}

TEST_F(RecordFunctionTest, ThreadIdsAreSmallStableAndNeverReused) {
  const uint64_t mine = RecordFunction::currentThreadId();
  std::set<uint64_t> others;
  for (int i = 0; i < 5; ++i) {
    std::thread([&] {
      others.insert(RecordFunction::currentThreadId());
      others.insert(RecordFunction::currentThreadId());
    }).join();
  }
  EXPECT_EQ(RecordFunction::currentThreadId(), mine);
  EXPECT_EQ(others.size(), 5u);
  EXPECT_EQ(others.count(mine), 0u);
  EXPECT_EQ(others.count(0), 0u);
  EXPECT_LT(*others.rbegin(), 1000u);
}

TEST_F(RecordFunctionTest, TheNodeIdIsUnsetUntilItIsSetToANumberFromZero) {
  EXPECT_EQ(RecordFunction::getDefaultNodeId(), -1);
  try {
    RecordFunction::setDefaultNodeId(-2);
    FAIL() << "-2 was taken";
  } catch (const ProfilerError& error) {
    EXPECT_NE(std::string(error.what()).find("-2"), std::string::npos);
  }
  EXPECT_EQ(RecordFunction::getDefaultNodeId(), -1);
  RecordFunction::setDefaultNodeId(3);
  EXPECT_EQ(RecordFunction::getDefaultNodeId(), 3);
}

TEST_F(RecordFunctionTest, SequenceNumbersCountPerThread) {
  const uint64_t first = peekSequenceNr();
  EXPECT_EQ(nextSequenceNr(), first);
  EXPECT_EQ(nextSequenceNr(), first + 1);
  EXPECT_EQ(peekSequenceNr(), first + 2);
  std::thread([] {
    EXPECT_EQ(peekSequenceNr(), 0u);
    EXPECT_EQ(nextSequenceNr(), 0u);
    EXPECT_EQ(peekSequenceNr(), 1u);
  }).join();
  EXPECT_EQ(peekSequenceNr(), first + 2);
}

TEST_F(RecordFunctionTest, TheMetadataOfACollectiveIsKnownByItsName) {
  addGlobalCallback(asking());
  int asked = 0;
  at_start = [&](const RecordFunction& function) { asked += function.isNcclMeta() ? 1 : 100; };
  RecordFunction function;
  function.before("record_param_comms");
  EXPECT_EQ(asked, 1);
  RecordFunction other;
  other.before("record_param_comms_not");
  EXPECT_EQ(asked, 101);
}

}  // namespace
}  // namespace xsigma::profiler
